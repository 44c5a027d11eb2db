extension StringProtocol {
    /// Whether there is nothing in it but ASCII letters, digits and these other ASCII characters.
    func hasOnlyLettersDigits(and others: String) -> Bool {
        utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: others.utf8.contains(byte)
            }
        }
    }
}
