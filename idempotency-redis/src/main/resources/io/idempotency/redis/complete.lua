-- PROCESSING of this owner becomes DONE.
--
-- ARGV[1]  owner
-- ARGV[2]  result
-- ARGV[3]  retention in ms
-- returns  {now, 1} if it is done by this owner, now or by an earlier sending; else {now, 0}

if owner ~= ARGV[1] or (state ~= 'P' and state ~= 'D') then
  return confirmed({now, 0})
end
if state == 'D' then
  return confirmed({now, 1})
end
redis.call('SET', key,
  string.char(1) .. 'D' .. string.sub(found, 3, KNOWN) .. struct.pack(NUMBERS, created, now, lease, ARGV[3])
    .. string.sub(found, REST) .. ARGV[2],
  'PX', ARGV[3])
return {now, 1}
