-- PUT of new documents into DATABASES databases, chosen at random: the path's name followed by -0, -1, …
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "documents.lua")
local databases = tonumber(os.getenv("DATABASES") or "256")

function request()
  sent = sent + 1
  local id = string.format("%s-%d/new-%d-%d-%08d", wrk.path, math.random(0, databases - 1), run, number, sent)
  return wrk.format("PUT", id, nil, "{" .. members .. "}")
end
