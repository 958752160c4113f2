-- _bulk_docs of 500 documents of 300 bytes, ids made here.
local thread_count = 0

function setup(thread)
  thread_count = thread_count + 1
  thread:set("number", thread_count)
end

function init(args)
  run = os.time()
  sent = 0
  wrk.headers["Content-Type"] = "application/json"
  local members = {}
  for i = 1, 25 do
    members[i] = string.format('"m%02d":%d', i, i * 1000 + i)
  end
  rest = table.concat(members, ",") .. "}"
end

function request()
  sent = sent + 1
  local docs = {}
  for i = 1, 500 do
    docs[i] = string.format('{"_id":"bulk-%d-%d-%06d-%03d",%s', run, number, sent, i, rest)
  end
  return wrk.format("POST", wrk.path .. "/_bulk_docs", nil,
    '{"docs":[' .. table.concat(docs, ",") .. "]}")
end
