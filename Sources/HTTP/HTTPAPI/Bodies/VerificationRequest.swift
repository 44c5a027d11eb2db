import AppleAccounts
import StrictJSON

/// The body of a request for a verification event (OpenID Shared Signals Framework 1.0 §8.1.4.2). Members that the
/// specification does not define are ignored.
struct VerificationRequest {
    let stream: String
    let state: String?

    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var stream: String?
        var state: String?
        while let name = try body.next() {
            switch name {
            case "stream_id": stream = try body.string("stream_id")
            case "state":
                state = try body.string("state")
                guard (state?.utf8.count ?? 0) <= StreamVerification.longestState else {
                    throw Problem(.memberMalformed, subject: .member("state"))
                }
            default: try body.skip()
            }
        }
        guard let stream else { throw Problem(.memberMissing, subject: .member("stream_id")) }
        (self.stream, self.state) = (stream, state)
    }
}
