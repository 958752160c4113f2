-- _bulk_docs of 500 documents, with ids created here.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "documents.lua")

function request()
  sent = sent + 1
  local docs = {}
  for i = 1, 500 do
    docs[i] = string.format('{"_id":"bulk-%d-%d-%06d-%03d",%s}', run, number, sent, i, members)
  end
  return wrk.format("POST", wrk.path .. "/_bulk_docs", nil,
    '{"docs":[' .. table.concat(docs, ",") .. "]}")
end
