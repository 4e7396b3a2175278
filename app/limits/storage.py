"""The windows in Valkey, which one script hits and reads in one round trip.

A storage of the library ``limits`` with its own URL scheme, so that Flask-Limiter can use it. The
library's storage for Redis sends one command to hit and two to read each window.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from limits.storage import Storage

from app.jobs.valkey import Script, valkey
from app.limits import request_counts
from app.limits.windows import LimitResult, Window
from app.values import clock

SCHEME: Final = "canopy"
MINUTE_MS: Final = 60_000
DAY_MS: Final = 24 * 60 * MINUTE_MS

# A window with too late an end is from before the clock was set back, and starts again.

# Decides if a request of an account may pass, by a window (KEYS[1]) and the account's counter of
# the day (in KEYS[2]), and counts it in both or in neither. A counted one is also counted for its
# credential, without a limit. The names of both counters are added to the set KEYS[3].   ARGV: 1
# limit of the window or 0, 2 its length in ms, 3 limit of the day or 0, 4 day,         5 seconds
# after which the day's counters expire,         6 the account's counter, 7 the credential's, 8 and
# 9 their beginnings or ''   answer: allowed, used of the window, ms until it ends, used of the day;
# -1 if a counter is missing and 8 is ''
_HIT: Final = Script("""
local limit, used, left = tonumber(ARGV[1]), 0, tonumber(ARGV[2])
local day_limit, known = tonumber(ARGV[3]), redis.call('HMGET', KEYS[2], ARGV[6], ARGV[7])
if not (known[1] and known[2]) then
    if ARGV[8] == '' then return {-1} end
    redis.call('HSETNX', KEYS[2], ARGV[6], ARGV[8])
    redis.call('HSETNX', KEYS[2], ARGV[7], ARGV[9])
    redis.call('EXPIRE', KEYS[2], ARGV[5])
end
local today = tonumber(known[1] or ARGV[8])
if limit > 0 then
    local ttl = redis.call('PTTL', KEYS[1])
    if ttl >= 0 and ttl <= left then used, left = tonumber(redis.call('GET', KEYS[1])), ttl end
end
if (limit > 0 and used >= limit) or (day_limit > 0 and today >= day_limit) then
    return {0, used, left, today}
end
if limit > 0 then
    used = used + 1
    if used == 1 then redis.call('SET', KEYS[1], 1, 'PX', left) else redis.call('INCR', KEYS[1]) end
end
today = redis.call('HINCRBY', KEYS[2], ARGV[6], 1)
redis.call('HINCRBY', KEYS[2], ARGV[7], 1)
redis.call('SADD', KEYS[3], ARGV[6] .. ' ' .. ARGV[4], ARGV[7] .. ' ' .. ARGV[4])
return {1, used, left, today}
""")
# The same for any number of windows, KEYS, without a counter.
#   ARGV: for each window its limit and its length in ms
#   answer: allowed, then for each window used and ms until it ends
_HIT_WINDOWS: Final = Script("""
local answer, used, left = {1}, {}, {}
for i, key in ipairs(KEYS) do
    local ttl = redis.call('PTTL', key)
    used[i], left[i] = 0, tonumber(ARGV[2 * i])
    if ttl >= 0 and ttl <= left[i] then
        used[i], left[i] = tonumber(redis.call('GET', key)), ttl
    end
    if used[i] >= tonumber(ARGV[2 * i - 1]) then answer[1] = 0 end
end
for i, key in ipairs(KEYS) do
    if answer[1] == 1 then
        if used[i] == 0 then redis.call('SET', key, 0, 'PX', left[i]) end
        used[i] = redis.call('INCR', key)
    end
    answer[2 * i], answer[2 * i + 1] = used[i], left[i]
end
return answer
""")

# Counts bytes in a window, KEYS[1], unless they exceed its limit.
#   ARGV: 1 the bytes, 2 the most, 3 its length in ms
#   answer: 1 if they count
_ADD_BYTES: Final = Script("""
local used, left, ttl = 0, tonumber(ARGV[3]), redis.call('PTTL', KEYS[1])
if ttl >= 0 and ttl <= left then used, left = tonumber(redis.call('GET', KEYS[1])), ttl end
used = used + tonumber(ARGV[1])
if used > tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], used, 'PX', left)
return 1
""")


class WindowKey(NamedTuple):
    """The key, limit and length of a window."""

    client: str
    limit: int
    length_ms: int = MINUTE_MS


class WindowStorage(Storage):
    """The windows of rate limits, and the counters of the day. Hits return None if Valkey fails."""

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012 - as the library has it
    base_exceptions = ()

    def hit_windows(self, windows: Sequence[WindowKey]) -> LimitResult | None:
        """Check one request against all of these windows, and count it in all or in none."""
        keys = tuple(window_key(window.client) for window in windows)
        limits = itertools.chain.from_iterable(window[1:] for window in windows)
        answer: Any = valkey().run(_HIT_WINDOWS, keys, *limits)
        if answer is None:
            return None
        moment = clock.now().timestamp()
        counts = zip(windows, answer[1::2], answer[2::2], strict=True)
        hit = tuple(_make_window(moment, window, used, left_ms) for window, used, left_ms in counts)
        return LimitResult(bool(answer[0]), moment, hit)

    def hit_account(
        self,
        account_id: str,
        credential: str,
        per_minute: int | None,
        per_day: int | None,
        window: str,
    ) -> LimitResult | None:
        """Check one request of an account, and count it if it may pass.

        Args:
            credential: ``Principal.counted_as``.
            window: the key of the minute's window.
        """
        counters = (account_id, request_counts.credential_counter(account_id, credential))
        request_counts.flush_local_counts()
        was_down, day = valkey().is_down, request_counts.today_utc()
        answer = self._hit_account(counters, per_minute, per_day, day, window)
        if answer is None:
            if was_down:  # else Valkey may have counted it before it failed
                request_counts.count_locally(*counters)
            return None
        allowed, used, left_ms, today = answer
        moment, windows = clock.now().timestamp(), []
        if per_minute is not None:
            windows.append(_make_window(moment, WindowKey(window, per_minute), used, left_ms))
        if per_day is not None:
            windows.append(Window("day", per_day, today, request_counts.ends_at(day)))
        return LimitResult(bool(allowed), moment, tuple(windows))

    def _hit_account(
        self,
        counters: tuple[str, str],
        per_minute: int | None,
        per_day: int | None,
        day: str,
        window: str,
    ) -> list[int] | None:
        keys = (window_key(window), request_counts.day_key(day), request_counts.CHANGED)
        limits = (per_minute or 0, MINUTE_MS, per_day or 0, day, request_counts.KEPT_SECONDS)
        beginnings: Sequence[Any] = ("", "")
        for _ in range(2):
            answer: Any = valkey().run(_HIT, keys, *limits, *counters, *beginnings)
            if answer is None or answer[0] != request_counts.UNKNOWN:
                break
            beginnings = [request_counts.written_on(counter, day) for counter in counters]
        return answer  # type: ignore[no-any-return]

    @property
    def storage(self) -> Any:
        """The client of Valkey, which ``flask limiter config`` shows."""
        return valkey().client

    # The interface that the library requires, for one window at a time. It is not used here.

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError

    def get(self, key: str) -> int:
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        raise NotImplementedError

    def check(self) -> bool:
        return valkey().is_writable()

    def reset(self) -> int | None:
        raise NotImplementedError

    def clear(self, key: str) -> None:
        raise NotImplementedError


def add_bytes(size: int, window: WindowKey) -> bool:
    """Count bytes in a window, unless they exceed its limit. Returns True if they fit, or Valkey
    fails."""
    answer: int | None = valkey().run(_ADD_BYTES, (window_key(window.client),), size, *window[1:])
    return answer != 0


def window_key(client: str) -> str:
    """The key of the windows of a client."""
    return f"canopy:window:{client}"


def _make_window(moment: float, window: WindowKey, used: int, left_ms: int) -> Window:
    name = "minute" if window.length_ms == MINUTE_MS else "day"
    return Window(name, window.limit, used, moment + left_ms / 1000)
