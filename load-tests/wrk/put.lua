-- PUT of new documents of 300 bytes with 25 leaves, each thread under ids of its own.
local thread_count = 0

function setup(thread)
  thread_count = thread_count + 1
  thread:set("number", thread_count)
end

function init(args)
  run = os.time()
  written = 0
  wrk.headers["Content-Type"] = "application/json"
  local members = {}
  for i = 1, 25 do
    members[i] = string.format('"m%02d":%d', i, i * 1000 + i)
  end
  body = "{" .. table.concat(members, ",") .. "}"
end

function request()
  written = written + 1
  local id = string.format("%s/new-%d-%d-%08d", wrk.path, run, number, written)
  return wrk.format("PUT", id, nil, body)
end
