-- Puts a copy there, unless one stands there, or the key is barred, or the copy comes too late: then the record may have been
-- forgotten meanwhile, and a bar may be over.
--
-- A copy is one string: format (1, always 1), state (1: D for a copy, B for a bar), when its record expires in ms since 1970 by
-- this server's clock (8, the most significant first), and the rest, which no script looks into.
--
-- ARGV[1]  when the record was read, by this server's clock, in ms; at least then
-- ARGV[2]  how long the copy may live from then on, in ms
-- ARGV[3]  how long the record lives from then on, in ms
-- ARGV[4]  how old the copy may be, in ms
-- ARGV[5]  the rest
-- returns  {now, 1} if it was put there, else {now, 0}

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local as_of = tonumber(ARGV[1])
local age = now - as_of
local life = ARGV[2] - age
-- A clock that was set back makes old copies look young; a few ms are rounding and drift.
if age > tonumber(ARGV[4]) or age < -100 or life < 1000 then
  return {now, 0}
end
local copy = string.char(1) .. 'D' .. struct.pack('>I8', as_of + ARGV[3]) .. ARGV[5]
local written = redis.call('SET', KEYS[1], copy, 'NX', 'PX', life)
return {now, written and 1 or 0}
