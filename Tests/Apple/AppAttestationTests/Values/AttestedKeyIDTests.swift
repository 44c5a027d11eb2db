import AppAttestation
import Testing

@Suite struct AttestedKeyIDTests {
    static let sample = "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV0="

    @Test func `reads the text that a client has`() {
        #expect(AttestedKeyID(base64: Self.sample)?.base64 == Self.sample)
    }

    @Test(arguments: [
        "", String(sample.dropLast()), sample + "=", sample.replacing("+", with: "-"), sample + "\n",
        // Unused bits that are set: a second text for the same bytes.
        "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV1=", "zgSY9YSD+7TaDXssY6WlOPVS1K3Lmk+pFhlcSWE+ZV==",
    ])
    func `refuses any other text`(text: String) {
        #expect(AttestedKeyID(base64: text) == nil)
    }
}
