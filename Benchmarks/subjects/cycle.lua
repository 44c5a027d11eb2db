-- For wrk: sends the requests of a file, each after its length in four bytes (the lowest first), over and over.
-- The second argument is how many of them to leave out.
local requests, next_request = {}, 0

function init(arguments)
    local file = assert(io.open(arguments[1], "rb"))
    while true do
        local length = file:read(4)
        if not length then break end
        local a, b, c, d = length:byte(1, 4)
        requests[#requests + 1] = file:read(a + b * 256 + c * 65536 + d * 16777216)
    end
    file:close()
    next_request = tonumber(arguments[2] or 0)
end

function request()
    next_request = next_request % #requests + 1
    return requests[next_request]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        'RESULT {"requests": %d, "microseconds": %d, "failed": %d, "refused": %d, "p50_us": %d, "p99_us": %d}\n',
        summary.requests, summary.duration, errors.connect + errors.read + errors.write + errors.timeout,
        errors.status, latency:percentile(50), latency:percentile(99)))
end
