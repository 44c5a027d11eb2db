public import AppAttestation
public import AppleAccounts
public import ArgumentParser
package import Inspection
public import Logging

extension Moment: ExpressibleByArgument {
    /// Accepts a time in RFC 3339 format.
    public init?(argument: String) { self.init(rfc3339: argument) }
}

extension ReceiverName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}

extension AttestationEnvironment: ExpressibleByArgument {}

extension AppPlatform: ExpressibleByArgument {}

extension AppCheckMode: ExpressibleByArgument {}

extension InspectedKind: ExpressibleByArgument {
    package init?(argument: String) { self.init(name: argument) }

    package var defaultValueDescription: String { name }

    package static var allValueStrings: [String] { all.map(\.name) }
}
