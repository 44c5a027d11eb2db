/// Refuses a receipt of another app (field 2).
struct ReceiptAppIDCheck: Sendable {
    let appID: AppID

    func check(_ content: ReceiptContent) throws(ReceiptError) {
        guard content.appID.utf8.elementsEqual(appID.text.utf8) else {
            throw ReceiptError(.appIDMismatch, found: content.appID, expected: appID.text)
        }
    }
}
