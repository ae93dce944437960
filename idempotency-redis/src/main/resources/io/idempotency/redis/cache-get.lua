-- Says which copy stands there. GETEX counts as a write, so that a replica refuses to answer.
--
-- returns  {now}, or {now, copy}

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('GETEX', KEYS[1])
if found then
  return {now, found}
end
return {now}
