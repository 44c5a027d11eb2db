public import AppleAccounts
public import AppleIdentity
public import ArgumentParser
public import Logging

extension Moment: ExpressibleByArgument {
    /// RFC 3339.
    public init?(argument: String) { self.init(rfc3339: argument) }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension TokenKind: ExpressibleByArgument {}
