import ArgumentParser

/// Sends HTTP requests at a fixed rate, regardless of the responses, and prints the results as a JSON object.
///
/// wrk sends each request only after the previous response, so a stalling server gets fewer requests and
/// looks better than it is. Here every request has a scheduled time, and its latency counts from that time
/// even while the request waits for a free connection.
@main
struct PacedLoad: ParsableCommand {
    @Option var port: UInt16
    @Option(help: "A file of requests, each after its length in four bytes, the lowest first.") var requests:
        String
    @Option(help: "Requests per second.") var rate: Double
    @Option var seconds: Double
    @Option var connections: Int

    func validate() throws {
        guard rate > 0, rate <= 1_000_000, seconds > 0, seconds <= 600, connections > 0, connections <= 4096
        else { throw ValidationError("A number is out of its range.") }
    }

    func run() throws {
        let requests = try RequestSet(contentsOfFile: requests)
        var load = try Load(
            requests: requests, port: port, connections: connections, rate: rate, seconds: seconds)
        try load.run()
        print(load.tally.json())
    }
}
