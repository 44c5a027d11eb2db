/// The format of a sealed value: a version byte (1), the length of the key's name and the name, a salt of 16 bytes, a
/// nonce of 12 bytes, the ciphertext, a tag of 16 bytes.
struct SealedFrame {
    /// The first byte of a sealed value.
    static let version: UInt8 = 1
    static let saltSize = 16
    static let nonceSize = 12
    static let tagSize = 16
    /// OpenSSL uses 32-bit sizes.
    static let longest = Int(Int32.max)

    /// Everything before the nonce. It is authenticated too, so that the key name of a value cannot be
    /// changed.
    let header: ArraySlice<UInt8>
    let keyName: String
    let salt: ArraySlice<UInt8>
    let nonce: ArraySlice<UInt8>
    let ciphertext: ArraySlice<UInt8>
    let tag: ArraySlice<UInt8>

    /// Returns `nil` unless every part is present.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count >= 2, bytes.count <= Self.longest, bytes[0] == Self.version else { return nil }
        let nameEnd = 2 + Int(bytes[1])
        let end = nameEnd + Self.saltSize
        guard bytes.count >= end + Self.nonceSize + Self.tagSize, SealingKey.isName(bytes[2..<nameEnd]) else {
            return nil
        }
        header = bytes[..<end]
        keyName = String(decoding: bytes[2..<nameEnd], as: UTF8.self)
        salt = bytes[nameEnd..<end]
        nonce = bytes[end..<(end + Self.nonceSize)]
        ciphertext = bytes[(end + Self.nonceSize)..<(bytes.count - Self.tagSize)]
        tag = bytes[(bytes.count - Self.tagSize)...]
    }

    static func header(keyName: String, salt: [UInt8]) -> [UInt8] {
        let name = Array(keyName.utf8)
        return [version, UInt8(name.count)] + name + salt
    }
}
