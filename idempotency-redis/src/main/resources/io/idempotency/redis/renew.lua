-- Starts the lease of this owner anew, if the record is PROCESSING.
--
-- ARGV[1]  owner
-- ARGV[2]  lease in ms
-- ARGV[3]  hold in ms
-- returns  {now, 1} if it was renewed, else {now, 0}

if state ~= 'P' or owner ~= ARGV[1] then
  return confirmed({now, 0})
end
local lengths_stay = lease == tonumber(ARGV[2]) and hold == tonumber(ARGV[3])
if known == 0 or not lengths_stay then
  local written = redis.pcall('SETRANGE', key, KNOWN, struct.pack(NUMBERS, created, 0, ARGV[2], ARGV[3]))
  -- Without memory the creation time is lost. That is no reason to lose the lease as well.
  if type(written) == 'table' and not lengths_stay then
    return written
  end
end
redis.call('PEXPIRE', key, ARGV[3])
return {now, 1}
