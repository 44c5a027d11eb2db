import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
import Testing

@Suite struct TombstoneNameTests {
    @Test func `names a tombstone as no sub can be named`() {
        let key = SubjectKey(team: "A1B2C3D4E5", subject: "001999.abc.0123")
        #expect(key.tombstoneName.utf8.count == 65)
        #expect(AppleSubject(String(key.tombstoneName)) == nil)
        let digest = SHA256Digest.hash("A1B2C3D4E5\n001999.abc.0123")
        #expect(key.tombstoneName.hasSuffix(Hexadecimal.encode(digest)))
    }
}
