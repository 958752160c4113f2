-- PUT of new documents.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "documents.lua")

function request()
  sent = sent + 1
  local id = string.format("%s/new-%d-%d-%08d", wrk.path, run, number, sent)
  return wrk.format("PUT", id, nil, "{" .. members .. "}")
end
