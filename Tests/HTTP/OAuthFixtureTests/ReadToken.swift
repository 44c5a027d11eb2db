import Encodings
import Foundation
import JOSE
import Testing

/// A JWT, read by Foundation, with the signed bytes.
struct ReadToken {
    let header: [String: any Sendable]
    let claims: [String: any Sendable]
    private let signed: [UInt8]
    private let signature: [UInt8]

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        try #require(parts.count == 3)
        header = try PlayedResponse.object(Data(try #require(Base64URL.decode(parts[0]))))
        claims = try PlayedResponse.object(Data(try #require(Base64URL.decode(parts[1]))))
        signed = Array("\(parts[0]).\(parts[1])".utf8)
        signature = try #require(Base64URL.decode(parts[2]))
    }

    func isSigned(by key: TokenVerificationKey) -> Bool {
        key.isValidSignature(signature, for: signed[...])
    }
}
