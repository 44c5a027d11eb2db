package import HTTPEngine
import NIOCore
import NIOHTTP1
package import OAuth

extension OAuthFields {
    /// - Parameter client: The other end of the connection; `nil` for a trusted proxy.
    convenience init(_ fields: RequestFields, _ headers: HTTPHeaders, from client: ClientAddress?) {
        self.init(
            authorization: fields.authorization, contentType: fields.contentType,
            address: RequesterAddress(fields, from: client), userAgent: headers.first(name: "user-agent"))
    }
}

extension RequesterAddress {
    /// - Parameter client: The other end of the connection; `nil` for a trusted proxy.
    package init?(_ fields: RequestFields, from client: ClientAddress?) {
        // Only a trusted proxy is believed. Another client can write anything into the field, and is counted
        // by the address of its connection.
        guard let address = client ?? fields.forwardedFor.flatMap(Self.nearest) else { return nil }
        self = address.requester
    }

    /// Returns the last address in `X-Forwarded-For`, which the trusted proxy itself has written.
    private static func nearest(_ field: String) -> ClientAddress? {
        // A client may have written a header of any length before it.
        guard let last = field.utf8.suffix(64).split(separator: UInt8(ascii: ",")).last else { return nil }
        let text = String(Substring(last)).filter { $0 != " " && $0 != "\t" && $0 != "[" && $0 != "]" }
        return (try? SocketAddress(ipAddress: text, port: 0)).flatMap { ClientAddress($0) }
    }
}
