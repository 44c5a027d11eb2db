-- For wrk: refreshes rotated tokens. The file has one refresh token per line. Each request presents the current
-- token of a line, and the answer has the next one. What is current at the end is written back.
local before = "grant_type=refresh_token&client_id=bench-desktop&refresh_token="
local head = "POST /oauth/token HTTP/1.1\r\nHost: accounts.example.com\r\n" ..
    "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: "
local threads = {}
-- Of the thread; `done` reads them in another state of Lua.
tokens, first, last = {}, 1, 0

function setup(thread) threads[#threads + 1] = thread end

function init(arguments)
    path = arguments[1]
    for line in assert(io.open(path)):lines() do
        last = last + 1
        tokens[last] = line
    end
end

-- wrk asks for the first request once more than it sends it.
local has_asked = false

function request()
    local token = assert(tokens[first], "no refresh token is left")
    if has_asked then
        tokens[first] = nil
        first = first + 1
    end
    has_asked = true
    local body = before .. token
    return head .. #body .. "\r\n\r\n" .. body
end

function response(status, headers, body)
    local token = status == 200 and body:match('"refresh_token":"([^"]+)"')
    if token then
        last = last + 1
        tokens[last] = token
    end
end

function done(summary, latency)
    -- Tokens whose answers were still under way are not written: nobody has them.
    local file = assert(io.open(threads[1]:get("path"), "w"))
    local kept = threads[1]:get("tokens")
    for index = threads[1]:get("first"), threads[1]:get("last") do file:write(kept[index], "\n") end
    file:close()
    local errors = summary.errors
    io.write(string.format(
        'RESULT {"requests": %d, "microseconds": %d, "failed": %d, "refused": %d, "p50_us": %d, "p99_us": %d}\n',
        summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.timeout,
        errors.status, latency:percentile(50), latency:percentile(99)))
end
