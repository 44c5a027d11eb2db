import AppleAccounts

/// The signed-in user: a circle with an initial, the name and the address, as far as they are known.
struct UserBlock {
    let account: Account
    /// Texts as HTML.
    let signedInAs: String
    let withoutName: String

    func write(to page: inout HTMLWriter) {
        page.append("<div class=\"user\"><span class=\"face\" aria-hidden=\"true\">")
        page.append(escaping: initial)
        page.append("</span><span class=\"who\"><span>")
        page.append(signedInAs)
        page.append("</span><b>")
        if let first = name ?? account.email {
            page.append(value: first)
        } else {
            page.append(withoutName)
        }
        page.append("</b>")
        if name != nil, let email = account.email {
            page.append("<span>")
            page.append(value: email)
            page.append("</span>")
        }
        // The end of the block follows, on the consent page after a link to another account.
        page.append("</span>")
    }

    private var name: String? {
        let name = [account.profile.firstName, account.profile.lastName].compactMap { $0 }
        return name.isEmpty ? nil : name.joined(separator: " ")
    }

    private var initial: String {
        (name ?? account.email)?.first.map { String($0).uppercased() } ?? "•"
    }
}
