import AppleAccounts
import SignIn

@testable import Cryptography

/// Seals like earlier versions, which had no separate key for each value.
enum EarlierSeal {
    static func seal(_ plaintext: [UInt8], with key: SealingKey, associatedData: [UInt8]) -> [UInt8] {
        let header = [1, UInt8(key.name.utf8.count)] + Array(key.name.utf8)
        let nonce = SecureRandom.bytes(count: 12)
        let cipher = SealingCipher(.seal, key: key.bytes, nonce: nonce)
        cipher.authenticate(header)
        cipher.authenticate(associatedData)
        let ciphertext = cipher.transform(plaintext)
        return header + nonce + ciphertext + cipher.tag()
    }

    /// Converts stored values to the format of those versions.
    static func sealAgain(_ row: SealedRow, with key: SealingKey) -> SealedSecret? {
        SealedSecret(
            seal(
                Array("code".utf8), with: key,
                associatedData: row.purpose.associatedData(of: row.accountID, clientID: row.clientID)))
    }
}
