import AppleAccounts

/// Who is signed in: a circle with an initial, the name and the address, as far as they are known.
struct PersonBlock {
    let account: Account
    let texts: AuthorizeTexts.Consent

    var html: String {
        """
        <div class="person"><span class="face" aria-hidden="true">\(initial.htmlEscaped)</span>\
        <span class="who"><span>\(texts.signedInAs.htmlEscaped)</span>\(lines)</span></div>
        """
    }

    private var lines: String {
        switch (name, account.email) {
        case (nil, nil): "<b>\(texts.withoutName.htmlEscaped)</b>"
        case (let name?, nil): "<b>\(Markup.value(name).html)</b>"
        case (nil, let email?): "<b>\(Markup.value(email).html)</b>"
        case (let name?, let email?):
            "<b>\(Markup.value(name).html)</b><span>\(Markup.value(email).html)</span>"
        }
    }

    private var name: String? {
        let name = [account.profile.firstName, account.profile.lastName].compactMap { $0 }
        return name.isEmpty ? nil : name.joined(separator: " ")
    }

    private var initial: String {
        (name ?? account.email)?.first.map { String($0).uppercased() } ?? "•"
    }
}
