package store

// MailKind is what a mail is about. Each kind has a template of its own (server/web/mail).
type MailKind string

const (
	MailConfirmation    MailKind = "confirmation"     // to confirm the address of a new account
	MailPasswordReset   MailKind = "password_reset"   // a link that sets a new password
	MailAddressChange   MailKind = "address_change"   // to the new address, to confirm it
	MailAddressChanged  MailKind = "address_changed"  // to the old address
	MailAwaitsApproval  MailKind = "awaits_approval"  // to somebody whose account awaits approval
	MailApproved        MailKind = "approved"         // the account is active
	MailRejected        MailKind = "rejected"         // the account was not approved
	MailNewRegistration MailKind = "new_registration" // to staff: an account awaits approval
	MailNewReport       MailKind = "new_report"       // to staff
	MailInvite          MailKind = "invite"           // an invite link for an address
	MailBackupReady     MailKind = "backup_ready"
	MailNewSignIn       MailKind = "new_sign_in" // a sign-in from a new place
)

// SendMail is the job that sends one mail. It holds no secrets: links with a one-time token get their token when the mail is sent.
type SendMail struct {
	Mail      MailKind          `json:"mail"`
	AccountID AccountID         `json:"account_id,omitempty"` // the user that it is for or about; 0: none
	To        string            `json:"to,omitempty"`         // "": the address of the user
	Values    map[string]string `json:"values,omitempty"`     // for the template
}

// Kind returns the kind of the job.
func (SendMail) Kind() string { return "send_mail" }
