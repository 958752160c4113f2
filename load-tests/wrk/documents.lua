-- Shared by the scripts that write: documents of 300 bytes with 25 leaves, and a number for each
-- thread, so that it writes ids of its own.
local thread_count = 0

function setup(thread)
  thread_count = thread_count + 1
  thread:set("number", thread_count)
end

function init(args)
  run = os.time()
  sent = 0
  wrk.headers["Content-Type"] = "application/json"
  local list = {}
  for i = 1, 25 do
    list[i] = string.format('"m%02d":%d', i, i * 1000 + i)
  end
  members = table.concat(list, ",")
end
