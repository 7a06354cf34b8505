// Before anything is drawn: the theme that was chosen here last.
try {
	const theme = localStorage.getItem('stint-theme');
	if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch { /* storage may be switched off */ }
