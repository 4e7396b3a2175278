"""The tables: columns, constraints, indexes; no behavior."""

from app.models.account import Account, AccountUsage
from app.models.asset import Asset
from app.models.audit import AuditCheckpoint, AuditEntry, SigningKey
from app.models.billing import BillingCustomer, BillingEvent, BillingSubscription
from app.models.boundary import BoundaryEntry, BoundaryShape
from app.models.credential import Credential
from app.models.delivery import AttemptCount, Delivery, DeliveryLog
from app.models.event import Event
from app.models.idempotency import IdempotentResponse
from app.models.imports import Import, ImportedRecord, ImportFeature, ImportFile
from app.models.instance import InstanceState
from app.models.mail import Mail
from app.models.oauth import OAuthApplication, OAuthAuthorization, OAuthConsent, OAuthToken
from app.models.person import Membership, User
from app.models.project import Project
from app.models.requests import CredentialRequest, RequestCount
from app.models.second_factor import (
    Authenticator,
    Passkey,
    PendingSignIn,
    RecoveryCode,
    UsedChallenge,
)
from app.models.session import Session
from app.models.sign_in import MailedLink, SignInFailure, SignUp
from app.models.single_sign_on import SignInAttempt, SignInIdentity
from app.models.webhook import Replay, Webhook

__all__ = [
    "Account",
    "AccountUsage",
    "Asset",
    "AttemptCount",
    "AuditCheckpoint",
    "AuditEntry",
    "Authenticator",
    "BillingCustomer",
    "BillingEvent",
    "BillingSubscription",
    "BoundaryEntry",
    "BoundaryShape",
    "Credential",
    "CredentialRequest",
    "Delivery",
    "DeliveryLog",
    "Event",
    "IdempotentResponse",
    "Import",
    "ImportFeature",
    "ImportFile",
    "ImportedRecord",
    "InstanceState",
    "Mail",
    "MailedLink",
    "Membership",
    "OAuthApplication",
    "OAuthAuthorization",
    "OAuthConsent",
    "OAuthToken",
    "Passkey",
    "PendingSignIn",
    "Project",
    "RecoveryCode",
    "Replay",
    "RequestCount",
    "Session",
    "SignInAttempt",
    "SignInFailure",
    "SignInIdentity",
    "SignUp",
    "SigningKey",
    "UsedChallenge",
    "User",
    "Webhook",
]
