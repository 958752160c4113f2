-- GET of random documents that put.lua or load.mjs created: doc-00000000 on.
local count = tonumber(os.getenv("DOCUMENTS") or "100000")

function init(args)
  math.randomseed(tonumber(tostring({}):sub(8), 16) or 1)
end

function request()
  return wrk.format("GET", string.format("%s/doc-%08d", wrk.path, math.random(0, count - 1)))
end
