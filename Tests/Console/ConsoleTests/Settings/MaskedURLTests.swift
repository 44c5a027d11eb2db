import Testing

@testable import Console

@Suite struct MaskedURLTests {
    @Test(arguments: [
        ("https://backend.example.com/siwa", "https://backend.example.com/siwa"),
        ("https://backend.example.com:8443", "https://backend.example.com:8443"),
        ("https://user:s3cret@backend.example.com/a/b", "https://…@backend.example.com/a/b"),
        ("https://u:p@ss@backend.example.com?key=s3cret", "https://…@backend.example.com?…"),
        ("https://backend.example.com/siwa?key=s3cret#x", "https://backend.example.com/siwa?…"),
        ("https://backend.example.com/siwa#s3cret", "https://backend.example.com/siwa?…"),
        (
            "https://hooks.example.com/services/T01/B02/s3cretXXXXXXXXXX/",
            "https://hooks.example.com/services/T01/B02/s3cr…/"
        ),
        ("https://backend.example.com/a?x=https://s3cret@b/", "https://backend.example.com/a?…"),
        ("s3cret", "…"), ("", "…"),
    ])
    func `the address of a receiver is shown without what can be a secret`(url: String, text: String) {
        #expect(MaskedURL.text(url) == text)
    }
}
