import AppAttestation
import Cryptography
import Testing

@Suite struct ClientDataHashTests {
    @Test func `hashes the bytes as they are`() {
        #expect(ClientDataHash(hashing: [1, 2, 3]).bytes == SHA256Digest.hash([1, 2, 3]).bytes)
        #expect(ClientDataHash(hashing: []).bytes.count == 32)
    }

    @Test func `takes bytes that are no hash, from 16 to 64`() {
        for count in [16, 24, 32, 64] {
            #expect(ClientDataHash(bytes: [UInt8](repeating: 1, count: count))?.bytes.count == count)
        }
        for count in [0, 15, 65] {
            #expect(ClientDataHash(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
    }
}
