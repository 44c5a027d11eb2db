import Encodings
import Testing

@Suite struct QueryTextTests {
    @Test(arguments: [
        ("abc-._~09AZ", "abc-._~09AZ"), ("a b", "a%20b"), ("a+b&c=d#e", "a%2Bb%26c%3Dd%23e"), ("é", "%C3%A9"),
        ("\r\nX: y", "%0D%0AX%3A%20y"), ("\"<>", "%22%3C%3E"), ("", ""), ("%", "%25"),
    ])
    func `lets nothing out but unreserved characters and escapes`(value: String, encoded: String) {
        #expect(QueryText.encode(value) == encoded)
    }

    @Test(arguments: [
        ("https://a.example", "https://a.example?x=1"), ("https://a.example/p?", "https://a.example/p?x=1"),
        ("https://a.example/p?y=2", "https://a.example/p?y=2&x=1"),
        ("https://a.example/p?y=2&", "https://a.example/p?y=2&x=1"),
        ("https://a.example/p?y=2?", "https://a.example/p?y=2?&x=1"),
    ])
    func `goes behind what an address has already`(url: String, whole: String) {
        var query = QueryText()
        query.append("x", "1")
        #expect(query.appended(to: url) == whole)
    }
}
