import AppleAccounts
import StrictJSON

/// The body of `POST /v1/accounts/{id}/disable`.
struct DisablingRequest {
    let reason: Disabling.Reason
    /// `nil` without an end.
    let until: Moment?

    init(parsing bytes: [UInt8]) throws(Problem) {
        var body = try RequestBody(bytes)
        var reason: Disabling.Reason?
        var until: Moment?
        while let name = try body.next() {
            switch name {
            case "reason":
                guard let text = try body.string("reason") else { continue }
                guard let known = Disabling.Reason(rawValue: text) else {
                    throw Problem(.memberMalformed, subject: .member("reason"))
                }
                reason = known
            case "until":
                guard let text = try body.string("until") else { continue }
                guard let moment = Moment(rfc3339: text) else {
                    throw Problem(.memberMalformed, subject: .member("until"))
                }
                until = moment
            default: throw Problem.unknownMember(name)
            }
        }
        guard let reason else { throw Problem(.memberMissing, subject: .member("reason")) }
        (self.reason, self.until) = (reason, until)
    }
}
