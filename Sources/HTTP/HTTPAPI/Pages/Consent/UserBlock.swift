import AppleAccounts

/// The signed-in user: a circle with an initial, the name and the address, as far as they are known.
struct UserBlock {
    let account: Account
    /// Texts as HTML.
    let signedInAs: String
    let withoutName: String

    private var user: ShownUser { ShownUser(account) }

    func write(to page: inout HTMLWriter) {
        page.append("<div class=\"user\"><span class=\"face\" aria-hidden=\"true\">")
        page.append(escaping: initial)
        page.append("</span><span class=\"who\"><span>")
        page.append(signedInAs)
        page.append("</span><b>")
        if let title = user.title {
            // A user without a name has the address as the title.
            page.append(address: title)
        } else {
            page.append(withoutName)
        }
        page.append("</b>")
        if let email = user.subtitle {
            page.append("<span>")
            page.append(address: email)
            page.append("</span>")
        }
        // The end of the block follows, on the consent page after a link to another account.
        page.append("</span>")
    }

    private var initial: String {
        user.title?.first.map { String($0).uppercased() } ?? "•"
    }
}
