import HTTPTypes
import Hummingbird
import NIOCore

extension EmulatorState {
    /// The base URL with which the client reached the emulator: the `Host` of the request, else the address
    /// of the connection.
    func baseURL(_ request: Request, on channel: any Channel) -> String {
        let named = request.head.authority.flatMap { Self.isAuthority($0) ? $0 : nil }
        return "\(configuration.scheme)://\(named ?? address(of: channel))"
    }

    private func address(of channel: any Channel) -> String {
        let port = channel.localAddress?.port ?? configuration.port
        return configuration.host.contains(":")
            ? "[\(configuration.host)]:\(port)" : "\(configuration.host):\(port)"
    }

    /// Whether the text is a name or address with an optional port, without characters that end the host of a
    /// URL.
    private static func isAuthority(_ text: String) -> Bool {
        (1...261).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                ControlInput.isUnreserved(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "[")
                    || byte == UInt8(ascii: "]")
            }
    }
}
