import Encodings
import Testing

@Suite struct HexadecimalTests {
    @Test(arguments: ["0", "0g", "AB", " 0"])
    func `refuses hexadecimal that is not lowercase pairs`(text: String) {
        #expect(Hexadecimal.decode(text) == nil)
    }
}
