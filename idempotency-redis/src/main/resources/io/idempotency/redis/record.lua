-- Comes before every script: reads the record under the script's one key.
--
-- A record is one string; numbers have eight bytes, the most significant first:
--
--   1  format, always 1
--   2  state: P (PROCESSING) or D (DONE)
--   3  guarantee: E, L or M
--   4  owner, 16 bytes
--  20  token
--  28  created, in ms since 1970; 0 = the claim could not know it: expiry - hold as long as nothing has renewed it
--  36  completed, in ms since 1970; 0 = not yet
--  44  lease, in ms
--  52  hold, in ms: how long the key lives from the claim, the renewal or the completion on
--  60  fingerprint, operation and result, which no script looks into
--
-- The lease that is left is the time to live - (hold - lease).

local KNOWN, REST, NUMBERS, GUARANTEES = 27, 60, '>I8I8I8I8', 'ELM'
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('GET', key)
local left = redis.call('PTTL', key)

local state, owner, token, known, created, completed, lease, hold
if found and string.byte(found, 1) == 1 and #found >= REST and string.find(GUARANTEES, string.sub(found, 3, 3), 1, true) then
  state = string.sub(found, 2, 2)
  owner = string.sub(found, 4, 19)
  token, known, completed, lease, hold = struct.unpack('>I8I8I8I8I8', found, 20)
  created = known
  if created == 0 then
    local expiry = redis.pcall('PEXPIRETIME', key) -- since Redis 7.0
    created = (type(expiry) == 'number' and expiry or now + left) - hold
  end
end

-- A replica refuses every write. GETEX is one that changes nothing: what was only read is no answer before it has passed.
local function confirmed(reply)
  redis.call('GETEX', key)
  return reply
end
