-- Removes the record if it is PROCESSING of this owner.
--
-- ARGV[1]  owner
-- returns  {now, 1} if it was removed, else {now, 0}

if state ~= 'P' or owner ~= ARGV[1] then
  return confirmed({now, 0})
end
redis.call('DEL', key)
return {now, 1}
