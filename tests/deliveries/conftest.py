"""The same fixtures as for webhooks."""

from tests.webhooks.conftest import authority as authority
from tests.webhooks.conftest import certificate as certificate
from tests.webhooks.conftest import customer as customer
from tests.webhooks.conftest import deliver as deliver
from tests.webhooks.conftest import delivering as delivering
from tests.webhooks.conftest import later as later
from tests.webhooks.conftest import make_receiver as make_receiver
from tests.webhooks.conftest import own_settings as own_settings
from tests.webhooks.conftest import receiver as receiver
