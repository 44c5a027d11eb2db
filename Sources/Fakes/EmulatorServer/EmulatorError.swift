public import Encodings
package import HTTPTypes

/// A refused request of an emulator, or a reason why it cannot start. Match on `code`; its name is the stable
/// `code` of the problem.
///
/// `detail` contains member names and limits of the control API, never a claim or a token, so it may be
/// shown.
public struct EmulatorError: CodedError {
    /// Reason of the error. Each emulator declares its own reasons in an extension.
    public struct Code: Sendable, Hashable {
        public let name: String
        /// The status of the problem (RFC 9457).
        package let status: HTTPResponse.Status

        package init(_ name: String, _ status: HTTPResponse.Status) {
            (self.name, self.status) = (name, status)
        }
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }

    public var description: String {
        detail.isEmpty ? "emulator: \(code.name)" : "emulator: \(code.name) (\(detail))"
    }
}
