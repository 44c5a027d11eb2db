/// The form of a sealed value: a version byte, the length of the key's name and the name, a nonce of 12 bytes, the
/// ciphertext, a tag of 16 bytes.
struct SealedFrame {
    static let version: UInt8 = 1
    static let nonceSize = 12
    static let tagSize = 16
    /// OpenSSL counts in 32 bits.
    static let longest = Int(Int32.max)

    /// Everything before the nonce. It is authenticated too, so that nobody can rename the key of a value.
    let header: ArraySlice<UInt8>
    let keyName: String
    let nonce: ArraySlice<UInt8>
    let ciphertext: ArraySlice<UInt8>
    let tag: ArraySlice<UInt8>

    /// `nil` unless every part is there.
    init?(parsing bytes: [UInt8]) {
        guard bytes.count >= 2, bytes.count <= Self.longest, bytes[0] == Self.version else { return nil }
        let end = 2 + Int(bytes[1])
        guard bytes.count >= end + Self.nonceSize + Self.tagSize, SealingKey.isName(bytes[2..<end]) else {
            return nil
        }
        header = bytes[..<end]
        keyName = String(decoding: bytes[2..<end], as: UTF8.self)
        nonce = bytes[end..<(end + Self.nonceSize)]
        ciphertext = bytes[(end + Self.nonceSize)..<(bytes.count - Self.tagSize)]
        tag = bytes[(bytes.count - Self.tagSize)...]
    }

    static func header(keyName: String) -> [UInt8] {
        let name = Array(keyName.utf8)
        return [version, UInt8(name.count)] + name
    }
}
