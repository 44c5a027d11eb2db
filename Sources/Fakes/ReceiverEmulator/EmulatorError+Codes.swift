public import EmulatorServer
import HTTPTypes

/// The reasons of the fake receivers.
extension EmulatorError.Code {
    public static let receiverNotFound = Self("receiver_not_found", .notFound)
    /// The fault would change nothing: there is no server with TLS.
    public static let faultIneffective = Self("fault_ineffective", .conflict)
}
