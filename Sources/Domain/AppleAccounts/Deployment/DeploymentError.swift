public import Encodings

/// Refusal of a list of apps that cannot be served.
public struct DeploymentError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case noApps, clientIDInTwoApps
    }

    public let code: Code
    /// The client ID at fault. It comes from our own configuration and may be shown.
    public let detail: String

    public init(_ code: Code, detail: String) { (self.code, self.detail) = (code, detail) }
}

extension DeploymentError {
    public var description: String {
        switch code {
        case .noApps: "no app is configured"
        case .clientIDInTwoApps: "client ID \(detail) belongs to two apps"
        }
    }
}
