/// When the next of each kind of work is due; `nil` when there is none.
public struct GrantsDue: Sendable, Hashable {
    public let code: Moment?
    public let check: Moment?
    public let erasure: Moment?

    public init(code: Moment? = nil, check: Moment? = nil, erasure: Moment? = nil) {
        (self.code, self.check, self.erasure) = (code, check, erasure)
    }
}
