-- Puts a record where there is none, or over one that is abandoned by the owner that the caller has seen; a record that is DONE
-- also over the own one that is PROCESSING. Else says what stands there.
--
-- ARGV[1]  format, state, guarantee and owner of the new record
-- ARGV[2]  its fingerprint, operation and result
-- ARGV[3]  its lease in ms
-- ARGV[4]  its hold in ms
-- ARGV[5]  the owner that may be taken over; empty: none
-- returns  {now, token} if it was put there, else {now, record, time to live in ms}

local done = string.sub(ARGV[1], 2, 2) == 'D'

local function put(new_token, new_created)
  redis.call('SET', key,
    ARGV[1] .. struct.pack('>I8', new_token)
      .. struct.pack(NUMBERS, new_created, done and now or 0, ARGV[3], ARGV[4]) .. ARGV[2],
    'PX', ARGV[4])
  return {now, new_token}
end

if not found then
  return put(1, now)
end
if state == 'P' and done and owner == string.sub(ARGV[1], 4, 19) then
  return put(token, created)
end
if state == 'P' and owner == ARGV[5] and left >= 0 and left <= hold - lease then
  return put(token + 1, created)
end
return confirmed({now, found, left})
