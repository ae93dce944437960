-- Says what stands there.
--
-- returns  {now}, or {now, record, time to live in ms, created in ms}

if not found then
  return confirmed({now})
end
return confirmed({now, found, left, created or 0})
