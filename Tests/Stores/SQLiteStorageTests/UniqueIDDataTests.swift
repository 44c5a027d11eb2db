import AppleAccounts
import Foundation
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct UniqueIDDataTests {
    @Test func `stands in rows as its 16 bytes in their order`() {
        let id = UniqueID(high: 0x0193_A5E0_7C00_7ABC, low: 0x8DEF_0123_4567_89AB)
        #expect(
            Array(id.data) == [
                0x01, 0x93, 0xA5, 0xE0, 0x7C, 0x00, 0x7A, 0xBC, 0x8D, 0xEF, 0x01, 0x23, 0x45, 0x67, 0x89,
                0xAB,
            ])
        #expect(UniqueID(id.data) == id)
        #expect(UniqueID(Data([1, 2, 3])) == nil)
    }
}
