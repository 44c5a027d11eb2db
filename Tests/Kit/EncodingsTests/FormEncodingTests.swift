import Encodings
import Testing

@Suite struct FormEncodingTests {
    @Test func `escapes everything but unreserved characters`() {
        #expect(FormEncoding.escape("aZ09-._~ +&=%/ä") == "aZ09-._~%20%2B%26%3D%25%2F%C3%A4")
    }

    @Test func `decodes what it has encoded`() {
        let fields: [(name: String, value: String)] = [("a b", "c&d=e+f%"), ("ä", ""), ("a b", "again")]
        let decoded = FormEncoding.decode(FormEncoding.encode(fields).utf8) ?? []
        #expect(decoded.map(\.name) == fields.map(\.name))
        #expect(decoded.map(\.value) == fields.map(\.value))
    }

    @Test func `a plus sign is a space, and pairs may be empty`() {
        let decoded = FormEncoding.decode("a=b+c&&d".utf8) ?? []
        #expect(decoded.map(\.name) == ["a", "d"])
        #expect(decoded.map(\.value) == ["b c", ""])
    }

    @Test(arguments: ["a=%", "a=%1", "a=%GG", "a=%00", "a=%FF", "%E4=1"])
    func `refuses broken escapes, U+0000 and what is not UTF-8`(text: String) {
        #expect(FormEncoding.decode(text.utf8) == nil)
    }

    @Test func `refuses more fields than the limit`() {
        let text = Array(repeating: "a=b", count: 65).joined(separator: "&")
        #expect(FormEncoding.decode(text.utf8) == nil)
        #expect(FormEncoding.decode(text.utf8, limit: 65)?.count == 65)
    }
}
