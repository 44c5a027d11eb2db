/// The format of a sealed value: a version byte, the length of the key's name and the name, in version 2 a
/// salt of 16 bytes, a nonce of 12 bytes, the ciphertext, a tag of 16 bytes.
struct SealedFrame {
    enum Version: UInt8 {
        /// Sealed directly by the named key. Such values are opened, but no longer created.
        case plain = 1
        /// Sealed by a key that was derived from the named key for the purpose and the salt.
        case derived = 2

        var saltSize: Int { self == .derived ? SealedFrame.saltSize : 0 }
    }

    static let saltSize = 16
    static let nonceSize = 12
    static let tagSize = 16
    /// OpenSSL uses 32-bit sizes.
    static let longest = Int(Int32.max)

    let version: Version
    /// All bytes before the nonce. They are authenticated too, so that the key name of a value cannot be
    /// changed.
    let header: ArraySlice<UInt8>
    let keyName: String
    /// Empty in version 1.
    let salt: ArraySlice<UInt8>
    let nonce: ArraySlice<UInt8>
    let ciphertext: ArraySlice<UInt8>
    let tag: ArraySlice<UInt8>

    /// Returns `nil` unless every part is present.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count >= 2, bytes.count <= Self.longest, let version = Version(rawValue: bytes[0]) else {
            return nil
        }
        let nameEnd = 2 + Int(bytes[1])
        let end = nameEnd + version.saltSize
        guard bytes.count >= end + Self.nonceSize + Self.tagSize, SealingKey.isName(bytes[2..<nameEnd]) else {
            return nil
        }
        self.version = version
        header = bytes[..<end]
        keyName = String(decoding: bytes[2..<nameEnd], as: UTF8.self)
        salt = bytes[nameEnd..<end]
        nonce = bytes[end..<(end + Self.nonceSize)]
        ciphertext = bytes[(end + Self.nonceSize)..<(bytes.count - Self.tagSize)]
        tag = bytes[(bytes.count - Self.tagSize)...]
    }

    /// The header of version 2.
    static func header(keyName: String, salt: [UInt8]) -> [UInt8] {
        let name = Array(keyName.utf8)
        return [Version.derived.rawValue, UInt8(name.count)] + name + salt
    }
}
