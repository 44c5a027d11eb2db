public import AppleAccounts
public import ArgumentParser

extension Moment: ExpressibleByArgument {
    /// RFC 3339.
    public init?(argument: String) { self.init(rfc3339: argument) }
}
