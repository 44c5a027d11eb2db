/// All that an assertion is made of. The initial values make an assertion that passes every check.
public struct AssertionParts: Sendable {
    public let key: MintedKey
    public var appID = "\(AttestationMint.teamID).\(AttestationMint.bundleID)"
    public var clientData = AttestationMint.clientData
    public var flags: UInt8 = 0x40
    public var counter: UInt32 = 1
    /// Bytes after the counter.
    public var extensions: [UInt8] = []

    public init(key: MintedKey) { self.key = key }

    public var authenticatorData: [UInt8] { AttestationParts.fixed(appID, flags, counter) + extensions }

    /// The members in Apple's order.
    public func members() throws -> [(CBORItem, CBORItem)] {
        let signature = try key.sign(AttestationMint.nonce(authenticatorData, clientData))
        return [
            (.text("signature"), .bytes(signature)),
            (.text("authenticatorData"), .bytes(authenticatorData)),
        ]
    }

    /// The assertion in CBOR.
    public func assertion() throws -> [UInt8] { CBORItem.map(try members()).encoded }
}
